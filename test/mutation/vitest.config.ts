/** Only the project `unit`, for mutation runs. Stryker chooses the files. */
import { defineConfig } from 'vitest/config';
import config from '../../vitest.config.ts';

const unit = config.test?.projects?.find(
  (project) => typeof project === 'object' && 'test' in project && project.test?.name === 'unit',
);
if (typeof unit !== 'object' || !('test' in unit)) throw new Error('vitest.config.ts has no project unit.');
const setupFiles = [unit.test?.setupFiles ?? [], './test/mutation/seed.ts'].flat();

export default defineConfig({ test: { projects: [{ ...unit, test: { ...unit.test, setupFiles } }] } });
