package dev.isola.provider.http;

import java.util.List;
import org.junit.jupiter.api.Tag;

/** B9: the reference backend at level channel passes the conformance kit. */
@Tag("all")
final class ChannelBackendConformanceTest extends BackendConformanceTest {
  @Override
  List<String> program() {
    BackendProcess.require("python3");
    return List.of("python3", "backends/channel_backend.py");
  }
}
