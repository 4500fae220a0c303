// The command as a process of its own, from the same build as the test that starts it.
import { main } from '../../../runtime-node/cli/main.js';

await main();
