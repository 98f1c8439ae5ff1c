package dev.isola.tests;

/** What test code must not do, and what it does instead. */
enum Rule {
  SLEEP(
      "waits for the clock; wait for the condition with Awaitility (in the conformance kit:"
          + " Expect.eventually), block a slow peer on a latch, or set an injected clock"),
  UPPER_BOUND(
      "limits measured time, which fails on a loaded machine; assert the effect instead, e.g. that"
          + " the call returned while its peer was still blocked. Measurements belong to bench"),
  FIXED_PORT(
      "uses a fixed port, which another program may have; bind port 0 and read the port back"
          + " (port 1 stands for an address where nothing listens)");

  private final String message;

  Rule(String message) {
    this.message = message;
  }

  String message() {
    return message;
  }
}
