package dev.isola.provider.microvm.firecracker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.codec.json.Json;
import dev.isola.provider.microvm.firecracker.StubRequestCheck.State;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Shows that the stub refuses what Firecracker refuses. */
class FirecrackerStubTest {
  private static Optional<String> check(State state, String method, String path, String body) {
    Map<String, Object> fields = body.isEmpty() ? Map.of() : Json.parseObject(body);
    return StubRequestCheck.violation(state, method, path, fields);
  }

  @Test
  void refusesUnknownPathsAndMethods() {
    assertThat(check(State.FRESH, "GET", "/nothing", "")).isPresent();
    assertThat(check(State.FRESH, "POST", "/actions", "{}")).isPresent();
    assertThat(check(State.FRESH, "PUT", "/drives/", "{}")).isPresent();
    assertThat(check(State.FRESH, "GET", "/version", "")).isEmpty();
  }

  @Test
  void refusesMissingUnknownAndWrongFields() {
    String valid = "{\"guest_cid\":3,\"uds_path\":\"v\"}";
    assertThat(check(State.FRESH, "PUT", "/vsock", valid)).isEmpty();
    assertThat(check(State.FRESH, "PUT", "/vsock", "{\"guest_cid\":3}"))
        .hasValueSatisfying(why -> assertThat(why).contains("missing field `uds_path`"));
    assertThat(check(State.FRESH, "PUT", "/vsock", "{\"guest_cid\":\"3\",\"uds_path\":\"v\"}"))
        .hasValueSatisfying(why -> assertThat(why).contains("invalid type of `guest_cid`"));
    assertThat(
            check(State.FRESH, "PUT", "/vsock", "{\"guest_cid\":3,\"uds_path\":\"v\",\"port\":1}"))
        .hasValueSatisfying(why -> assertThat(why).contains("unknown field `port`"));
    String load = "{\"snapshot_path\":\"s\",\"mem_backend\":{\"backend_type\":\"File\"%s}%s}";
    String memory = ",\"backend_path\":\"m\"";
    assertThat(check(State.FRESH, "PUT", "/snapshot/load", load.formatted(memory, ""))).isEmpty();
    assertThat(check(State.FRESH, "PUT", "/snapshot/load", load.formatted("", ""))).isPresent();
    assertThat(
            check(
                State.FRESH,
                "PUT",
                "/snapshot/load",
                load.formatted(memory, ",\"vsock_override\":\"v\"")))
        .isPresent();
    assertThat(
            check(
                State.FRESH,
                "PUT",
                "/snapshot/load",
                load.formatted(memory, ",\"network_overrides\":[{\"iface_id\":\"eth0\"}]")))
        .isPresent();
  }

  @Test
  void refusesIdsThatDiffer() {
    String drive =
        "{\"drive_id\":\"b\",\"path_on_host\":\"f\",\"is_root_device\":false,"
            + "\"is_read_only\":true}";
    assertThat(check(State.FRESH, "PUT", "/drives/a", drive)).isPresent();
    assertThat(check(State.FRESH, "PUT", "/drives/b", drive)).isEmpty();
  }

  @Test
  void refusesRequestsOutOfOrder() {
    String start = "{\"action_type\":\"InstanceStart\"}";
    assertThat(check(State.CONFIGURED, "PUT", "/actions", start)).isEmpty();
    assertThat(check(State.RUNNING, "PUT", "/actions", start)).isPresent();
    assertThat(check(State.CONFIGURED, "PATCH", "/vm", "{\"state\":\"Paused\"}")).isPresent();
    String create = "{\"snapshot_path\":\"s\",\"mem_file_path\":\"m\"}";
    assertThat(check(State.RUNNING, "PUT", "/snapshot/create", create)).isPresent();
    assertThat(check(State.PAUSED, "PUT", "/snapshot/create", create)).isEmpty();
    String load =
        "{\"snapshot_path\":\"s\",\"mem_backend\":{\"backend_type\":\"File\","
            + "\"backend_path\":\"m\"}}";
    assertThat(check(State.CONFIGURED, "PUT", "/snapshot/load", load)).isPresent();
    assertThat(check(State.FRESH, "PUT", "/snapshot/load", load)).isEmpty();
  }
}
