/** Applications and their clients. Their calls are reimplemented here; none of their code is used. */
import type { Client } from './clients.ts';

const tried = 'Calls as it makes them, and receivers that do what its own do; see [apps.md](apps.md).';

export const apps: readonly Client[] = [
  {
    name: 'LobeHub',
    registry: 'npm',
    program: 'apps/lobeHub.ts',
    versions: [
      {
        name: 'qstash 2.12.0 with workflow 0.2.23',
        packages: ['@upstash/qstash@2.12.0', '@upstash/workflow@0.2.23'],
      },
    ],
    about: tried,
  },
  {
    name: 'Dub',
    registry: 'npm',
    program: 'apps/dub.ts',
    versions: [
      {
        name: 'qstash 2.11.0 with workflow 1.3.0',
        packages: ['@upstash/qstash@2.11.0', '@upstash/workflow@1.3.0'],
      },
    ],
    about: tried,
  },
  {
    name: 'Papermark',
    registry: 'npm',
    program: 'apps/papermark.ts',
    versions: [{ name: 'qstash 2.9.0', packages: ['@upstash/qstash@2.9.0'] }],
    about: tried,
  },
  {
    name: 'Inbox Zero',
    registry: 'npm',
    program: 'apps/inboxZero.ts',
    versions: [{ name: 'qstash 2.11.3', packages: ['@upstash/qstash@2.11.3'] }],
    about: tried,
  },
  {
    name: 'django-qstash',
    registry: 'PyPI',
    program: 'apps/django_operations.py',
    versions: [{ name: '0.8.1', packages: ['django-qstash==0.8.1'] }],
    about: 'The package itself, in a Django project with its results and schedules; see [apps.md](apps.md).',
  },
];
