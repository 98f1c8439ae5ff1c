package dev.isola.provider.e2b;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.Isolation;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.provider.ProviderConfig;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Addresses of the service, and the isolation that it implies. */
class E2bProviderSettingsTest {
  private static E2bProviderSettings of(
      Map<String, String> settings, Map<String, String> environment) {
    return E2bProviderSettings.of(
        new ProviderConfig(settings), name -> environment.getOrDefault(name, ""));
  }

  @Test
  void defaultIsE2bCloud() {
    E2bProviderSettings settings = of(Map.of(), Map.of("E2B_API_KEY", "k"));
    assertThat(settings.api()).hasToString("https://api.e2b.app");
    assertThat(settings.envd("abc", Optional.empty())).hasToString("https://sandbox.e2b.app");
    assertThat(settings.isolation()).isEqualTo(Isolation.VM);
    assertThat(settings).asString().doesNotContain("k]");
  }

  @Test
  void isolationOfOtherServersIsUnknown() {
    for (Map<String, String> elsewhere :
        java.util.List.of(
            Map.of("E2B_DOMAIN", "example.org"),
            Map.of("E2B_DOMAIN", "e2b.app.example.org"),
            Map.of("E2B_DOMAIN", "note2b.app"),
            Map.of("E2B_API_URL", "http://api.e2b.app"),
            Map.of("E2B_API_URL", "https://127.0.0.1"),
            Map.of("E2B_SANDBOX_URL", "http://127.0.0.1:80"))) {
      assertThat(of(Map.of("isolation", "vm"), elsewhere).isolation())
          .as(elsewhere.toString())
          .isEqualTo(Isolation.PROCESS);
    }
  }

  @Test
  void settingsPrecedeTheEnvironment() {
    E2bProviderSettings settings =
        of(
            Map.of("domain", "one.example", "api_key", "mine"),
            Map.of("E2B_DOMAIN", "two.example", "E2B_API_KEY", "other"));
    assertThat(settings.api()).hasToString("https://api.one.example");
    assertThat(settings.envd("abc", Optional.empty())).hasToString("https://49983-abc.one.example");
    assertThat(settings.key().orElseThrow().reveal()).asString().isEqualTo("mine");
  }

  @Test
  void invalidAddressIsRejected() {
    for (String text : java.util.List.of("nonsense", "ftp://x", "http://", "http:// /")) {
      assertThatThrownBy(() -> of(Map.of("api_url", text), Map.of()))
          .as(text)
          .isInstanceOf(InvalidRequest.class)
          .hasMessageContaining("api_url");
    }
  }
}
