# The same queue as benchmark/sim_speed/models.rb, in SimPy as its documentation writes such models: a process for each customer.
# Prints JSON: seconds in env.run, customers, mean time in the system, events scheduled, and versions.
import json
import random
import sys
import time

import simpy


def main(customers, servers, arrivals_per_s, mean_service_s, seed):
    env = simpy.Environment()
    resource = simpy.Resource(env, capacity=servers)
    chance = random.Random(seed)
    times = []

    def customer():
        arrived = env.now
        with resource.request() as turn:
            yield turn
            yield env.timeout(chance.expovariate(1 / mean_service_s))
        times.append(env.now - arrived)

    def source():
        for _ in range(customers):
            yield env.timeout(chance.expovariate(arrivals_per_s))
            env.process(customer())

    env.process(source())
    began = time.perf_counter()
    env.run()
    seconds = time.perf_counter() - began
    print(json.dumps({"seconds": seconds, "requests_count": len(times), "mean_ns": sum(times) / len(times) * 1e9,
                      "events_count": next(env._eid), "version": "SimPy %s, Python %s" % (simpy.__version__, sys.version.split()[0])}))


main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5]))
