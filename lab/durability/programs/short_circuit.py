# tools: reserve, count
ok = count(kind="seats") == 0 and reserve(seat=4) and reserve(seat=5)
again = count(kind="seats") == 2 or reserve(seat=6)
print(bool(ok), again)
