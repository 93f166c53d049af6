# tools: page, put
total = 0
for name in ("harbour", "mill", "tower"):
    total += page(name=name)["price"]
put(name="total", value=total)
print(total)
