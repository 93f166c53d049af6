# tools: count, send
while (number := count(kind="letters")) < 2:
    send(to="bob", text=f"number {number}")
print(number)
