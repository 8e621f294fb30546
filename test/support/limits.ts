/**
 * The time limits of all tests. They find hangs, and nothing else: a test that takes a second on a quiet machine may take a minute
 * on a busy one.
 */

/** On an emulator the job of a worker that is stopped at its start comes back after the queue's visibility timeout, 405 s. */
const factor = process.env['SVC_E2E_TARGET'] === 'deployed' ? 5 : 1;

/** Milliseconds for one wait within a test: an answer, a delivery, a process that starts. */
export const limitForHangsMs = 120_000 * factor;

/** Milliseconds for an installation of packages, or hundreds of requests in another program. */
export const limitForInstallsMs = 600_000;

/** Milliseconds for a whole test, or for a file's preparation: several waits. */
export const limitForTestsMs = 300_000 * factor;

/** Milliseconds for a test that lets a process die at each of its calls: some hundred tests in one. */
export const limitForManyDeathsMs = 1_800_000;
