# tools: reserve, count
for seat in [n for n in range(6) if n % 2]:
    reserve(seat=seat)
print(count(kind="seats"))
