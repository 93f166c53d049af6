# tools: reserve, send
for number, name in enumerate(["ada", "", "cyd", "dan"]):
    if not name:
        continue
    reserve(seat=number)
    send(to=name, text=f"seat {number}")
print("ok")
