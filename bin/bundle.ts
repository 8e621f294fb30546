/** The first half of `npm start`: bundles what its second half runs. */
import { bundleStage } from '../local/bundle.ts';

bundleStage();
