import { expect, it } from 'vitest';
import { together, type Closable } from '../../../bench/against/servers/together.ts';

const closing = (name: string, closed: string[]): Closable => ({
  close: () => {
    closed.push(name);
    return Promise.resolve();
  },
});

it('stops everything that was started, the last one first', async () => {
  const closed: string[] = [];
  const running = await together((add) => {
    add(closing('redis', closed));
    add(closing('service', closed));
    return Promise.resolve({ port: 80 });
  });
  expect([running.port, closed]).toEqual([80, []]);
  await running.close();
  expect(closed).toEqual(['service', 'redis']);
});

it('stops what runs if the next one does not start', async () => {
  const closed: string[] = [];
  const starting = together((add) => {
    add(closing('redis', closed));
    return Promise.reject(new Error('no module'));
  });
  await expect(starting).rejects.toThrow('no module');
  expect(closed).toEqual(['redis']);
});

it('stops the others if one cannot be stopped', async () => {
  const closed: string[] = [];
  const running = await together((add) => {
    add(closing('redis', closed));
    add({ close: () => Promise.reject(new Error('stuck')) });
    return Promise.resolve({});
  });
  await expect(running.close()).rejects.toThrow('Not all servers');
  expect(closed).toEqual(['redis']);
});
