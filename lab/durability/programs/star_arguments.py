# tools: put
def store(**named):
    for name, value in sorted(named.items()):
        put(name=name, value=value)

settings = {"b": 2, "a": [1, 2], "c": None}
store(**settings)
print(len(settings))
