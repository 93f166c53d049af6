# tools: page, send, put
for name in ["mill", "tower"]:
    match page(name=name):
        case {"price": price} if price > 40:
            send(to=name, text="dear")
        case {"price": price}:
            put(name=name, value=price)
print("matched")
