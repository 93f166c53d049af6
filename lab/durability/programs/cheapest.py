# tools: page, pay
prices = {name: page(name=name)["price"] for name in ["harbour", "mill", "tower"]}
best = min(prices, key=lambda name: prices[name])
print(best, pay(to=best, amount=prices[best]))
