package dev.isola.snapshot.s3;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.codec.digest.Sha256;
import dev.isola.spi.Secret;
import java.time.Instant;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** The examples from Amazon's documentation of Signature Version 4 for S3. */
class AwsSignatureV4Test {
  private static final String EMPTY =
      "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

  private static String sign(
      String method, String path, Map<String, String> query, Map<String, String> headers) {
    SortedMap<String, String> all = new TreeMap<>(headers);
    all.put("host", "examplebucket.s3.amazonaws.com");
    all.put("x-amz-date", "20130524T000000Z");
    all.putIfAbsent("x-amz-content-sha256", EMPTY);
    return AwsSignatureV4.of(
        method,
        path,
        new TreeMap<>(query),
        all,
        "us-east-1",
        "AKIAIOSFODNN7EXAMPLE",
        Secret.of("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"));
  }

  @Test
  void signsARangeRequest() {
    assertThat(sign("GET", "/test.txt", Map.of(), Map.of("Range", "bytes=0-9")))
        .isEqualTo(
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
                + "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
                + "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
  }

  @Test
  void signsAPutRequest() {
    assertThat(
            sign(
                "PUT",
                "/" + AwsSignatureV4.encode("test$file.text", true),
                Map.of(),
                Map.of(
                    "Date",
                    "Fri, 24 May 2013 00:00:00 GMT",
                    "x-amz-storage-class",
                    "REDUCED_REDUNDANCY",
                    "x-amz-content-sha256",
                    Sha256.hex(
                        "Welcome to Amazon S3."
                            .getBytes(java.nio.charset.StandardCharsets.UTF_8)))))
        .endsWith("Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
  }

  @Test
  void signsAListRequest() {
    assertThat(sign("GET", "/", Map.of("lifecycle", ""), Map.of()))
        .endsWith("Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
    assertThat(sign("GET", "/", Map.of("max-keys", "2", "prefix", "J"), Map.of()))
        .endsWith("Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
  }

  @Test
  void encodesTimesAndKeys() {
    assertThat(AwsSignatureV4.time(Instant.parse("2013-05-24T00:00:00.999Z")))
        .isEqualTo("20130524T000000Z");
    assertThat(AwsSignatureV4.encode("a/b c+~\u00e4", true)).isEqualTo("a/b%20c%2B~%C3%A4");
    assertThat(AwsSignatureV4.encode("a/b", false)).isEqualTo("a%2Fb");
  }
}
