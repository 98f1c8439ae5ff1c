package dev.isola.engine;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.LinkOption.NOFOLLOW_LINKS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.CreateResult;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.SnapshotImageName;
import dev.isola.engine.api.SnapshotRequest;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.exec.Command;
import dev.isola.spi.spec.SandboxSpec;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
import io.opentelemetry.proto.metrics.v1.Metric;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The metrics of an engine as exported. */
class MetricsTest {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final String POOL =
      """
      pool:
        - provider: test
          size: 1
          spec:
            env: {KIND: warm}
      """;

  @TempDir Path folder;

  private static SandboxRequest request(SandboxSpec.Builder spec) {
    return SandboxRequest.of(CreateRequest.of(spec.build(), "test"));
  }

  private static SandboxSpec.Builder spec() {
    return SandboxSpec.builder(SandboxId.random(RANDOM));
  }

  /** Returns the sample lines by name and labels. */
  private static Map<String, Double> values(EngineFixture fixture) {
    return fixture
        .engine
        .metrics()
        .scrape()
        .lines()
        .filter(line -> !line.startsWith("#"))
        .collect(
            Collectors.toMap(
                line -> line.substring(0, line.lastIndexOf(' ')),
                line ->
                    Double.parseDouble(
                        line.substring(line.lastIndexOf(' ') + 1).replace("+Inf", "Infinity"))));
  }

  @Test
  void allOperationsAreCounted() throws IOException {
    try (EngineFixture fixture = new EngineFixture(folder, "")) {
      CreateResult delivery = fixture.engine.creator().create(request(spec()));
      SandboxId id = delivery.view().id();
      delivery.sandbox().run(Command.shell("echo hello"));
      fixture.engine.sandboxes().get(id).run(Command.shell("exit 1"));
      fixture.engine.sandboxes().get(id).files().writeText("a", "12345", UTF_8);
      assertThatThrownBy(
              () -> fixture.engine.sandboxes().get(id).files().stat("none", NOFOLLOW_LINKS))
          .isInstanceOf(NotFound.class);
      assertThatThrownBy(
              () ->
                  fixture
                      .engine
                      .creator()
                      .create(SandboxRequest.of(CreateRequest.of(spec().build(), "my secret"))))
          .isInstanceOf(NotFound.class);

      assertThat(values(fixture))
          .containsEntry(
              "isola_spawn_seconds_count{outcome=\"ok\",provider=\"test\",start=\"cold\"}", 1.0)
          .containsEntry(
              "isola_spawn_seconds_count{outcome=\"error\",provider=\"none\",start=\"cold\"}", 1.0)
          .containsEntry(
              "isola_spawn_seconds_bucket{outcome=\"ok\",provider=\"test\",start=\"cold\","
                  + "le=\"+Inf\"}",
              1.0)
          .containsEntry("isola_executions_total{provider=\"test\"}", 2.0)
          .containsEntry("isola_execution_seconds_count{outcome=\"ok\",provider=\"test\"}", 1.0)
          .containsEntry(
              "isola_execution_seconds_count{outcome=\"nonzero\",provider=\"test\"}", 1.0)
          .containsEntry(
              "isola_bytes_total{direction=\"out\",kind=\"stream\",provider=\"test\"}", 6.0)
          .containsEntry("isola_bytes_total{direction=\"in\",kind=\"file\",provider=\"test\"}", 5.0)
          .containsEntry(
              "isola_file_transfer_seconds_count{direction=\"in\",outcome=\"ok\","
                  + "provider=\"test\"}",
              1.0)
          .containsEntry("isola_errors_total{code=\"file_not_found\",operation=\"files\"}", 1.0)
          .containsEntry("isola_errors_total{code=\"provider_not_found\",operation=\"spawn\"}", 1.0)
          .containsEntry("isola_sandboxes{provider=\"test\",state=\"running\"}", 1.0)
          .containsEntry("isola_sandboxes{provider=\"test\",state=\"paused\"}", 0.0)
          .containsEntry("isola_provider_healthy{provider=\"test\"}", 1.0)
          .containsEntry("isola_admission_cpu_promised", 1.0)
          .containsEntry("isola_admission_cpu_capacity", Double.POSITIVE_INFINITY)
          .containsEntry("isola_admission_memory_promised_bytes", 1024.0 * 1024 * 1024)
          .containsEntry("isola_admission_waiting", 0.0)
          .doesNotContainKey("isola_oom_total{provider=\"test\"}");

      // No id and no text of a client becomes a label.
      assertThat(fixture.engine.metrics().scrape())
          .doesNotContain(id.value())
          .doesNotContain("my secret");

      fixture.engine.sandboxes().destroy(id, DestroyOptions.NORMAL);
      await()
          .untilAsserted(
              () ->
                  assertThat(values(fixture))
                      .containsEntry("isola_sandboxes{provider=\"test\",state=\"running\"}", 0.0)
                      .containsEntry("isola_admission_cpu_promised", 0.0)
                      .containsEntry(
                          "isola_destroy_seconds_count{outcome=\"ok\",provider=\"test\"}", 1.0));
    }
  }

  @Test
  void backgroundExecutionsAreTimed() throws IOException {
    try (EngineFixture fixture = new EngineFixture(folder, "")) {
      SandboxId id = fixture.engine.creator().create(request(spec())).view().id();
      fixture.engine.sandboxes().get(id).start(Command.shell("exit 4")).close();
      await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(
              () ->
                  assertThat(values(fixture))
                      .containsEntry(
                          "isola_execution_seconds_count{outcome=\"nonzero\",provider=\"test\"}",
                          1.0));
    }
  }

  @Test
  void snapshotRecordsTheBuildVersion() throws IOException {
    String pom = Files.readString(Path.of("pom.xml"));
    String version = pom.replaceFirst("(?s).*?<version>(.*?)</version>.*", "$1");
    try (EngineFixture fixture = new EngineFixture(folder, "")) {
      SandboxId id = fixture.engine.creator().create(request(spec())).view().id();
      fixture.engine.sandboxes().get(id).files().writeText("a", "12345", UTF_8);
      assertThat(
              fixture.engine.snapshots().create(id, SnapshotRequest.WORKSPACE).snapshot().runtime())
          .isEqualTo(version)
          .contains(".");
    }
  }

  @Test
  void snapshotsAreTimedAndMeasured() throws IOException {
    try (EngineFixture fixture = new EngineFixture(folder, "")) {
      SandboxId id = fixture.engine.creator().create(request(spec())).view().id();
      fixture.engine.sandboxes().get(id).files().writeText("a", "12345".repeat(1000), UTF_8);
      String first =
          fixture.engine.snapshots().create(id, SnapshotRequest.WORKSPACE).snapshot().id();
      fixture.engine.snapshots().create(id, SnapshotRequest.WORKSPACE);
      fixture.engine.creator().create(request(spec().image(SnapshotImageName.of(first))));
      Map<String, Double> values = values(fixture);
      assertThat(values)
          .containsEntry("isola_snapshot_seconds_count{outcome=\"ok\",provider=\"test\"}", 2.0)
          .containsEntry("isola_restore_seconds_count{outcome=\"ok\",provider=\"test\"}", 1.0)
          .containsEntry("isola_snapshot_bytes_total{kind=\"taken\",provider=\"test\"}", 10_000.0)
          // The second snapshot adds nothing new, and the first compresses well.
          .containsEntry("isola_snapshot_bytes_total{kind=\"new\",provider=\"test\"}", 5_000.0);
      assertThat(values.get("isola_snapshot_bytes_total{kind=\"stored\",provider=\"test\"}"))
          .isBetween(1.0, 4_999.0);
    }
  }

  @Test
  void poolReportsHitsAndMissesByReason() throws IOException {
    try (EngineFixture fixture = new EngineFixture(folder, POOL)) {
      await()
          .untilAsserted(
              () ->
                  assertThat(values(fixture))
                      .containsEntry("isola_pool_ready{provider=\"test\"}", 1.0));
      fixture.engine.creator().create(request(spec().env("KIND", "warm")));
      fixture.engine.creator().create(request(spec().env("KIND", "other")));
      await()
          .untilAsserted(
              () ->
                  assertThat(values(fixture))
                      .containsEntry("isola_pool_size", 1.0)
                      .containsEntry("isola_pool_hits_total", 1.0)
                      .containsEntry(
                          "isola_pool_misses_total{reason=\"no_pool_for_this_spec\"}", 1.0)
                      .containsEntry("isola_pool_misses_total{reason=\"pool_empty\"}", 0.0)
                      .containsEntry("isola_pool_hit_ratio", 0.5)
                      .containsEntry(
                          "isola_spawn_seconds_count{outcome=\"ok\",provider=\"test\","
                              + "start=\"warm\"}",
                          1.0));
    }
  }

  @Test
  void disabledPrometheusExportsNothing() throws IOException {
    try (EngineFixture fixture = new EngineFixture(folder, "metrics: {prometheus: false}")) {
      CreateResult delivery = fixture.engine.creator().create(request(spec()));
      assertThat(delivery.sandbox().run(Command.shell("true")).succeeded()).isTrue();
      assertThat(fixture.engine.metrics().scrape()).isEmpty();
    }
  }

  /** A minimal OTLP collector on this machine. */
  @Test
  void otlpMetricsReachACollector() throws IOException {
    Map<String, Metric> arrived = new ConcurrentHashMap<>();
    List<String> services = new java.util.concurrent.CopyOnWriteArrayList<>();
    HttpServer collector =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    collector.createContext(
        "/v1/metrics",
        exchange -> {
          ExportMetricsServiceRequest request =
              ExportMetricsServiceRequest.parseFrom(exchange.getRequestBody());
          request
              .getResourceMetricsList()
              .forEach(
                  resource -> {
                    resource
                        .getResource()
                        .getAttributesList()
                        .forEach(
                            one ->
                                services.add(one.getKey() + "=" + one.getValue().getStringValue()));
                    resource
                        .getScopeMetricsList()
                        .forEach(
                            scope ->
                                scope
                                    .getMetricsList()
                                    .forEach(metric -> arrived.put(metric.getName(), metric)));
                  });
          exchange.sendResponseHeaders(200, -1);
          exchange.close();
        });
    collector.start();
    try {
      String url = "http://127.0.0.1:" + collector.getAddress().getPort() + "/v1/metrics";
      try (EngineFixture fixture =
          new EngineFixture(
              folder, "metrics: {prometheus: false, otlp: {url: \"" + url + "\", interval: 1h}}")) {
        CreateResult delivery = fixture.engine.creator().create(request(spec()));
        delivery.sandbox().run(Command.shell("echo hello"));
      } // pending metrics are exported on close
    } finally {
      collector.stop(0);
    }
    assertThat(services).contains("service.name=isola");
    assertThat(arrived)
        .containsKeys("isola.spawn", "isola.execution", "isola.executions", "isola.sandboxes");
    assertThat(
            arrived
                .getOrDefault("isola.executions", Metric.getDefaultInstance())
                .getSum()
                .getDataPoints(0)
                .getAsDouble())
        .isEqualTo(1.0);
    assertThat(
            arrived
                .getOrDefault("isola.spawn", Metric.getDefaultInstance())
                .getHistogram()
                .getDataPoints(0)
                .getCount())
        .isEqualTo(1);
    assertThat(
            arrived
                .getOrDefault("isola.bytes", Metric.getDefaultInstance())
                .getSum()
                .getDataPoints(0)
                .getAsDouble())
        .isEqualTo(6.0);
  }
}
