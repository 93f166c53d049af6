# tools: reserve
for seat in range(19, 24):
    try:
        reserve(seat=seat)
        print("got", seat)
    except Exception:
        print("no seat", seat)
        break
