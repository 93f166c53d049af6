# tools: page, send, pay, reserve
for name in ["harbour", "mill", "tower", "inn"]:
    price = page(name=name)["price"]
    if price > 60:
        send(to=name, text="no")
    elif price > 30:
        pay(to=name, amount=price)
    else:
        reserve(seat=price)
print("done")
