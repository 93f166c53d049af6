# tools: send, put
def tell(name, words):
    text = " ".join(words)
    send(to=name, text=text)
    return len(text)

sizes = [tell("ada", ["one"]), tell("bob", ["two", "three"])]
put(name="sizes", value=sizes)
print(sizes)
