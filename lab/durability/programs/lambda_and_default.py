# tools: pay
tip = lambda to, amount=3: pay(to=to, amount=amount)
print(tip("ada"), tip("bob", 9), tip(to="cyd"))
