package dev.isola.codec.digest;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.security.MessageDigest;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class Sha256Test {
  /** The examples of FIPS 180-4. */
  private static final String OF_NOTHING =
      "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

  private static final String OF_ABC =
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

  @Test
  void digestsAreThoseOfTheStandard() {
    assertThat(Sha256.hex("")).isEqualTo(OF_NOTHING);
    assertThat(Sha256.hex("abc")).isEqualTo(OF_ABC);
    assertThat(Sha256.hex("abc".getBytes(UTF_8))).isEqualTo(OF_ABC);
    assertThat(Sha256.of("abc")).isEqualTo(HexFormat.of().parseHex(OF_ABC));
  }

  @Test
  void contentCanBeAddedPieceByPiece() {
    MessageDigest digest = Sha256.newDigest();
    digest.update("a".getBytes(UTF_8));
    digest.update("bc".getBytes(UTF_8));
    assertThat(HexFormat.of().formatHex(digest.digest())).isEqualTo(OF_ABC);
  }

  @Test
  void textIsUtf8() {
    assertThat(Sha256.hex("é")).isEqualTo(Sha256.hex("é".getBytes(UTF_8)));
  }
}
