package dev.isola.document;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.spec.Egress;
import dev.isola.spi.spec.EgressAction;
import dev.isola.spi.spec.EgressRule;
import dev.isola.spi.spec.HttpRule;
import dev.isola.spi.spec.PortRange;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** G2: egress settings as a document. */
class EgressDocumentTest {
  private static final Egress EVERYTHING =
      new Egress(
          Optional.of(EgressAction.ALLOW),
          List.of(
              EgressRule.allow("pypi.org"),
              new EgressRule(
                  EgressAction.DENY,
                  "*.example.com",
                  List.of(PortRange.of(443), new PortRange(8000, 8100)),
                  List.of()),
              new EgressRule(
                  EgressAction.ALLOW,
                  "api.example.com",
                  List.of(),
                  List.of(
                      new HttpRule(
                          List.of("GET", "POST"),
                          Optional.of("/v1/*"),
                          Map.of("Accept", "*"),
                          Map.of("Authorization", "Bearer ${secret.example}"))))),
          List.of("github"),
          Map.of("API_KEY", "example"),
          List.of("pinned.example.com"),
          true,
          new Egress.Limits(
              OptionalLong.of(5), OptionalLong.of(60), OptionalLong.of(4096), OptionalLong.of(1)));

  @Test
  void whatIsWrittenIsReadAgain() {
    assertThat(EgressDocument.fromMap(EgressDocument.write(EVERYTHING))).isEqualTo(EVERYTHING);
    assertThat(EgressDocument.fromMap(EgressDocument.write(Egress.NONE))).isEqualTo(Egress.NONE);
    for (EgressRule rule : EVERYTHING.rules()) {
      assertThat(EgressDocument.ruleFromMap(EgressDocument.write(rule))).isEqualTo(rule);
    }
  }

  @Test
  void hostAloneIsARuleThatAllowsIt() {
    assertThat(EgressDocument.fromMap(Map.of("rules", List.of("pypi.org"))).rules())
        .containsExactly(EgressRule.allow("pypi.org"));
  }

  @Test
  void portsMayBeNumbersAndRanges() {
    EgressRule rule =
        EgressDocument.ruleFromMap(
            Map.of("allow", "a.example", "ports", List.of(22, "80", "8000-8100")));
    assertThat(rule.ports())
        .containsExactly(PortRange.of(22), PortRange.of(80), new PortRange(8000, 8100));
  }

  @Test
  void everyProblemIsNamed() {
    assertThatThrownBy(
            () ->
                EgressDocument.fromMap(
                    Map.of(
                        "default", "maybe",
                        "rules",
                            List.of(
                                Map.of("allow", "a.example", "deny", "b.example"),
                                Map.of("ports", List.of(1)),
                                Map.of("allow", "a.example", "ports", List.of(0)),
                                Map.of("allow", "http://a.example/"),
                                Map.of("deny", "a.example", "http", List.of(Map.of())),
                                Map.of("allow", "a.example", "path", "/")),
                        "presets", List.of("no such thing!"),
                        "secrets", Map.of("NOT-A-VARIABLE", "x"),
                        "limits", Map.of("connections", 100_000))))
        .isInstanceOf(InvalidRequest.class)
        .hasMessageContainingAll(
            "default",
            "rules[0]",
            "rules[1]",
            "rules[2].ports[0]",
            "'http://a.example/'",
            "HTTP rules at a denial",
            "rules[5].path",
            "no such thing!",
            "NOT-A-VARIABLE",
            "limits.connections");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "a b",
        "a..b",
        ".a",
        "*.",
        "*a.example",
        "a.*.example",
        "**",
        "*.*",
        "http://a.example",
        "a.example:443",
        "a.example/x",
        "1.2.3",
        "1.2.3.4.5",
        "0x7f.1",
        "127.1",
        "010.0.0.1",
        "1.2.3.4/33",
        "1.2.3.4/-1",
        "1.2.3.4/",
        "::1/129",
        "fe80::1%eth0",
        "-a.example",
        "a-.example",
        "ä.example",
        "a\u0000.example"
      })
  void destinationIsRefused(String destination) {
    assertThatThrownBy(() -> EgressDocument.ruleFromMap(Map.of("allow", destination)))
        .isInstanceOf(InvalidRequest.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a", "a.example", "A.Example", "a.example.", "*.example", "*", "_dmarc.example",
        "xn--4ca.example", "1.2.3.4", "1.2.3.0/24", "0.0.0.0/0", "::1", "2001:db8::/32", "3com.com"
      })
  void destinationIsAccepted(String destination) {
    assertThat(EgressDocument.ruleFromMap(Map.of("allow", destination)).destination())
        .isEqualTo(destination);
  }
}
