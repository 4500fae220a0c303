// Compares two settings of the policy on one scenario, on several seeds: node simulate.mjs scenario.json
import { Os2gError } from 'os2g';
import { CorePool, loadScenario, simulateNow } from 'os2g/simulator';

async function compare(file) {
  const loaded = loadScenario(file); // or an object
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
}

try {
  const [file] = process.argv.slice(2);
  if (file === undefined) {
    console.error('name a scenario: node simulate.mjs docs/examples/scenarios/own-machine.json');
    process.exitCode = 2;
  } else await compare(file);
} catch (error) {
  if (!(error instanceof Os2gError)) throw error;
  console.error(`${error.message}\nto mend it: ${error.mend}`);
  process.exitCode = error.exitCode;
}
