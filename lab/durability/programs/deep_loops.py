# tools: reserve
taken = []
for row in range(2):
    for place in range(2):
        for level in range(2):
            if (row + place + level) % 2:
                taken.append(reserve(seat=row * 4 + place * 2 + level))
print(len(taken))
