# tools: page, put, send
def price_of(name):
    return page(name=name)["price"]

prices = {}
# next block
for name in ["mill", "inn"]:
    prices[name] = price_of(name)
print(prices)
# next block
put(name="prices", value=prices)
dear = max(prices, key=lambda name: prices[name])
send(to=dear, text=str(prices[dear]))
print(dear)
