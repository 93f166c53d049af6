# tools: page, put
by_price = {}
for name in ["harbour", "mill", "tower", "inn"]:
    by_price.setdefault(page(name=name)["price"] // 20, []).append(name)
put(name="by price", value={str(key): by_price[key] for key in sorted(by_price)})
print(sorted(by_price.items()))
