# tools: page, pay, put
price = page(name="tower")["price"]
left = pay(to="tower", amount=price) if price < 100 else None
put(name="left", value=left)
print(left is None, left)
