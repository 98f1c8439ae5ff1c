package dev.isola.server.limit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.spec.AddressBlock;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ClientAddressesTest {
  private final ClientAddresses clients =
      new ClientAddresses(
          Stream.of("10.0.0.0/8", "fd00::/16")
              .flatMap(text -> AddressBlock.parse(text).stream())
              .toList());

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          192.0.2.9 | for=1.2.3.4                                | 192.0.2.9
          10.0.0.1  | for=1.2.3.4                                | 1.2.3.4
          10.0.0.1  | For="1.2.3.4:4711";proto=https;by=10.0.0.1 | 1.2.3.4
          10.0.0.1  | proto=https;for=1.2.3.4                    | 1.2.3.4
          10.0.0.1  | for=6.6.6.6, for=1.2.3.4                   | 1.2.3.4
          10.0.0.1  | for=6.6.6.6, for=1.2.3.4, for=10.9.9.9     | 1.2.3.4
          10.0.0.1  | for="6.6.6.6, for=1.2.3.4                  | 1.2.3.4
          10.0.0.1  | for=1.2.3.4;host="a,for=6.6.6.6;x="        | 1.2.3.4
          10.0.0.1  | for=1.2.3.4;host="a;for=6.6.6.6;x=y"       | 1.2.3.4
          10.0.0.1  | for=1.2.3.4;host="\\",for=6.6.6.6;x=\\""     | 1.2.3.4
          10.0.0.1  | a="b, for=1.2.3.4;host=";c=d"              | 1.2.3.4
          10.0.0.1  | for=1.2.3.4;for=6.6.6.6                    | 10.0.0.1
          10.0.0.1  | for=1.2.3.4, for=unknown                   | 10.0.0.1
          10.0.0.1  | for=1.2.3.4, for=_hidden                   | 10.0.0.1
          10.0.0.1  | for=1.2.3.4, nonsense                      | 10.0.0.1
          10.0.0.1  | ''                                         | 10.0.0.1
          10.0.0.1  | for=10.0.0.2                               | 10.0.0.2
          [fd00::1] | for="[2001:db8::7]:80"                     | 2001:db8:0:0:0:0:0:7
          """)
  void forwardedCountsAsFarAsTrustedProxiesWroteIt(String peer, String header, String client) {
    assertThat(clients.of(peer, List.of(header))).isEqualTo(client);
  }

  @Test
  void hostWithManyCommasIsNotBelieved() {
    String host = ",".repeat(100) + "for=6.6.6.6;x=";
    assertThat(clients.of("10.0.0.1", List.of("for=1.2.3.4;host=\"" + host + "\"")))
        .isEqualTo("10.0.0.1");
    assertThat(clients.of("10.0.0.1", List.of(",".repeat(10_000) + "for=1.2.3.4")))
        .isEqualTo("1.2.3.4");
  }

  @Test
  void severalHeadersAreOneList() {
    assertThat(clients.of("10.0.0.1", List.of("for=6.6.6.6", "for=1.2.3.4"))).isEqualTo("1.2.3.4");
  }

  @Test
  void addressesOfOneIpv6NetworkCountAsOneClient() {
    assertThat(ClientAddresses.network("[2001:db8:0:1:2:3:4:5]"))
        .isEqualTo(ClientAddresses.network("2001:db8:0:1::9"))
        .isNotEqualTo(ClientAddresses.network("2001:db8:0:2::9"));
    assertThat(ClientAddresses.network("192.0.2.1")).isEqualTo("192.0.2.1");
  }
}
