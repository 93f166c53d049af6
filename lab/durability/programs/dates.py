# tools: put, send
from datetime import date, timedelta

day = date(2026, 2, 27)
for _ in range(3):
    day += timedelta(days=1)
    send(to="diary", text=day.isoformat())
put(name="last day", value=day.isoformat())
print(day.isoformat())
