package dev.isola.provider.http;

import java.util.List;

/** B9: the reference backend at level channel passes the conformance kit. */
final class ChannelBackendConformanceTest extends BackendConformanceTest {
  @Override
  List<String> program() {
    BackendProcess.require("python3");
    return List.of("python3", "backends/channel_backend.py");
  }
}
