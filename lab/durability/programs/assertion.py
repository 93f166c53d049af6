# tools: page, put
one = page(name="inn")
try:
    assert one["words"] > 10_000, "too short"
except AssertionError as error:
    put(name="check", value=str(error).splitlines()[0])
print("checked")
