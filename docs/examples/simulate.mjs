// Compares two settings of the policy on one scenario, on several seeds: node simulate.mjs scenario.json
import { CorePool, loadScenario, simulateNow } from 'os2g/simulator';

const loaded = loadScenario(process.argv[2]); // or an object
const cores = await CorePool.load(); // once; then nothing is awaited, however many runs follow
await cores.ensure(loaded.scenario.nodes);

for (const share of [0, 0.01]) {
  const seconds = [1, 2, 3].map((seed) => {
    const { results } = simulateNow(
      loaded,
      { pipelines: ['os2g-host'], set: { 'hedge.share': share }, seed },
      cores,
    );
    return results[0].epoch_s[0];
  });
  console.log(JSON.stringify({ hedge_share: share, epoch_s: seconds }));
}
