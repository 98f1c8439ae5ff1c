package dev.isola.simulation;

import java.util.EnumMap;
import java.util.Map;

/** Counts operations, and calls of the ledger for them. Each call is one transaction. */
final class RoundTrips {
  private final Map<Operation, Long> operations = new EnumMap<>(Operation.class);
  private final Map<Operation, Long> calls = new EnumMap<>(Operation.class);

  void count(Operation operation, long number) {
    calls.merge(operation, number, Long::sum);
  }

  void begin(Operation operation) {
    begin(operation, 1);
  }

  void begin(Operation operation, long number) {
    operations.merge(operation, number, Long::sum);
  }

  long operations(Operation operation) {
    return operations.getOrDefault(operation, 0L);
  }

  double perOperation(Operation operation) {
    long number = operations(operation);
    return number == 0 ? 0 : calls.getOrDefault(operation, 0L) / (double) number;
  }

  long total() {
    return calls.values().stream().mapToLong(Long::longValue).sum();
  }
}
