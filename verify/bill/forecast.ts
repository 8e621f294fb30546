/** The forecast for a day: the costs of messages and of an idle deployment from docs/cost.md, at list prices. */
import { ordinaryMessage } from '../prices/ordinaryMessage.ts';
import { idleUses } from '../prices/resources.ts';
import type { Service } from '../prices/services.ts';
import { ordinary, partsOf } from '../prices/workload.ts';
import { daysOfMonth, pricedRegionOf, unitDollars } from '../prices/prices.ts';
import type { StackTemplate } from '../deployment.ts';

/** Dollars per day: without batches, and with batches of ten. */
export interface Forecast {
  readonly service: string;
  readonly alone: number;
  readonly batched: number;
}

/** @param messages the day's messages by region, including callbacks, assumed to have 1 KB and answers after 100 ms */
export function forecastOf(
  messages: ReadonlyMap<string, number>,
  stacks: readonly StackTemplate[],
): readonly Forecast[] {
  const sums = new Map<Service, Forecast>();
  const add = (service: Service, alone: number, batched: number): void => {
    if (alone === 0 && batched === 0) return;
    const before = sums.get(service) ?? { service, alone: 0, batched: 0 };
    sums.set(service, { service, alone: before.alone + alone, batched: before.batched + batched });
  };
  for (const [region, count] of messages) {
    const parts = (batch: number) =>
      partsOf(ordinary({ region: pricedRegionOf(region), batch, counted: ordinaryMessage }));
    const millions = count / 1e6;
    for (const { service, dollars } of parts(1)) add(service, dollars * millions, 0);
    for (const { service, dollars } of parts(10)) add(service, 0, dollars * millions);
  }
  for (const { region, resources } of stacks)
    for (const { service, unit, amount } of idleUses(Object.values(resources))) {
      const daily = unitDollars(unit, amount, pricedRegionOf(region)) / daysOfMonth;
      add(service, daily, daily);
    }
  return [...sums.values()];
}
