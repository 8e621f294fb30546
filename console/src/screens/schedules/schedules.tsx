import type { Place } from '../../place.ts';
import { Page } from '../../ui/basics.tsx';

export function Schedules({ place }: { readonly place: Place }) {
  return <Page title="Schedules">{place.path.join('/')}</Page>;
}
