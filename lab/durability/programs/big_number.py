# tools: put, count
number = 1
for n in range(1, 26):
    number *= n
put(name="factorial", value=str(number))
print(number % 97, count(kind="notes"))
