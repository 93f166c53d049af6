# tools: send
for name in ["ada", "bob", "cyd"]:
    send(to=name, text=f"dear {name}")
print("sent")
