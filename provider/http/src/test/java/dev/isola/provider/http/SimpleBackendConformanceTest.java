package dev.isola.provider.http;

import java.util.List;

/** B9: the reference backend at level simple passes the conformance kit. */
final class SimpleBackendConformanceTest extends BackendConformanceTest {
  @Override
  List<String> program() {
    BackendProcess.require("python3");
    return List.of("python3", "backends/simple_backend.py");
  }
}
