package dev.isola.integrations.springboot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.client.Isola;
import dev.isola.client.SandboxFilter;
import dev.isola.testing.server.TestServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Objects;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Contexts of Spring Boot with the starter and a server process. */
@Timeout(60)
class IsolaAutoConfigurationTest {
  private static final String KEY = TestServer.shared().key();

  private final ApplicationContextRunner starter =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  IsolaAutoConfiguration.class, IsolaHealthAutoConfiguration.class));

  private final ApplicationContextRunner connected =
      starter.withPropertyValues("isola.url=" + TestServer.shared().url(), "isola.key=" + KEY);

  private static Health health(HealthIndicator indicator) {
    Health health = Objects.requireNonNull(indicator.health());
    assertThat(health.getDetails().toString()).doesNotContain(KEY);
    return health;
  }

  @Test
  void propertiesMakeAClientWithHealth() {
    connected.run(
        context -> {
          assertThat(context.getBean(Isola.class).list(SandboxFilter.ALL)).isEmpty();
          Health health = health(context.getBean(IsolaHealthIndicator.class));
          assertThat(health.getStatus()).isEqualTo(Status.UP);
          assertThat(health.getDetails().get("providers"))
              .asInstanceOf(InstanceOfAssertFactories.MAP)
              .containsEntry("subprocess", "healthy");
        });
  }

  @Test
  void allPropertiesReachTheClient() {
    starter
        .withPropertyValues(
            "isola.url=https://isola.example:8443",
            "isola.key=isk_1",
            "isola.timeout=7s",
            "isola.reconnect-for=2m",
            "isola.attempts=1")
        .run(
            context ->
                assertThat(context.getBean(IsolaProperties.class))
                    .satisfies(
                        properties -> {
                          assertThat(properties.toString()).doesNotContain("isk_1");
                          assertThat(properties.options("isk_2"))
                              .hasToString("IsolaOptions[url=https://isola.example:8443, key=***]")
                              .matches(
                                  options ->
                                      options.timeout().toSeconds() == 7
                                          && options.reconnectFor().toMinutes() == 2
                                          && options.attempts() == 1);
                        }));
  }

  @Test
  void keyComesFromTheEnvironmentToo() {
    starter
        .withPropertyValues("isola.url=" + TestServer.shared().url(), "ISOLA_API_KEY=" + KEY)
        .run(context -> assertThat(context.getBean(Isola.class).apiVersions()).isNotEmpty());
  }

  @Test
  void missingKeyFailsTheStartWithARemedy() {
    starter.run(
        context ->
            assertThat(context.getStartupFailure())
                .rootCause()
                .hasMessageContaining("set the property isola.key or the variable ISOLA_API_KEY"));
  }

  @Test
  void malformedUrlFailsTheStart() {
    starter
        .withPropertyValues("isola.url=localhost:7777", "isola.key=" + KEY)
        .run(
            context ->
                assertThat(context.getStartupFailure())
                    .rootCause()
                    .hasMessageContaining("is not a valid server URL")
                    .message()
                    .doesNotContain(KEY));
  }

  @Test
  void clientOfTheApplicationComesFirst() {
    Isola own = Isola.connect("http://127.0.0.1:1", "isk_own");
    starter
        .withBean("own", Isola.class, () -> own)
        .run(context -> assertThat(context.getBean(Isola.class)).isSameAs(own));
  }

  @Test
  void contextClosesTheClient() {
    Isola[] client = new Isola[1];
    connected.run(context -> client[0] = context.getBean(Isola.class));
    assertThatThrownBy(() -> client[0].apiVersions()).isInstanceOf(RuntimeException.class);
  }

  @Test
  void healthIsDownWithTheReason() {
    starter
        .withPropertyValues("isola.url=http://127.0.0.1:1", "isola.key=" + KEY, "isola.attempts=1")
        .run(
            context -> {
              Health health = health(context.getBean(IsolaHealthIndicator.class));
              assertThat(health.getStatus()).isEqualTo(Status.DOWN);
              assertThat(health.getDetails().get("error"))
                  .asString()
                  .startsWith("SERVER_UNREACHABLE: ");
            });
    connected
        .withPropertyValues("isola.key=isk_0000000000000000")
        .run(
            context ->
                assertThat(health(context.getBean(IsolaHealthIndicator.class)).getDetails())
                    .extractingByKey("error")
                    .asString()
                    .startsWith("UNAUTHENTICATED: "));
  }

  @Test
  void healthOfASilentServerIsDownInTime() throws IOException {
    try (ServerSocket silent = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
        Isola isola = Isola.connect("http://127.0.0.1:" + silent.getLocalPort(), KEY)) {
      assertThat(health(new IsolaHealthIndicator(isola, Duration.ofMillis(200))).getDetails())
          .containsEntry("error", "the server did not respond within PT0.2S");
    }
  }

  /** An application, whose auto-configurations are read before their classes are loaded. */
  @ImportAutoConfiguration({IsolaAutoConfiguration.class, IsolaHealthAutoConfiguration.class})
  static class Application {}

  @Test
  void healthIsOptional() {
    connected
        .withPropertyValues("management.health.isola.enabled=false")
        .run(context -> assertThat(context).doesNotHaveBean(IsolaHealthIndicator.class));
    ApplicationContextRunner application =
        new ApplicationContextRunner()
            .withUserConfiguration(Application.class)
            .withPropertyValues("isola.key=" + KEY);
    application.run(context -> assertThat(context).hasSingleBean(IsolaHealthIndicator.class));
    application
        .withClassLoader(new FilteredClassLoader("org.springframework.boot.health"))
        .run(
            context ->
                assertThat(context)
                    .hasSingleBean(Isola.class)
                    .doesNotHaveBean("isolaHealthIndicator"));
  }
}
