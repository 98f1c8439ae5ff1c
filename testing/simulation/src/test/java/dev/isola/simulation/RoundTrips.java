package dev.isola.simulation;

/** Counts operations, and calls of the ledger for them. Each call is one transaction. */
final class RoundTrips {
  private final long[] operations = new long[Operation.values().length];
  private final long[] calls = new long[Operation.values().length];

  void count(Operation operation, long number) {
    calls[operation.ordinal()] += number;
  }

  void begin(Operation operation) {
    begin(operation, 1);
  }

  void begin(Operation operation, long number) {
    operations[operation.ordinal()] += number;
  }

  long operations(Operation operation) {
    return operations[operation.ordinal()];
  }

  double perOperation(Operation operation) {
    long number = operations[operation.ordinal()];
    return number == 0 ? 0 : calls[operation.ordinal()] / (double) number;
  }

  long total() {
    long sum = 0;
    for (long number : calls) {
      sum += number;
    }
    return sum;
  }
}
