package dev.isola.provider.e2b.http;

import dev.isola.spi.Bytes;
import java.net.http.HttpHeaders;

/** The whole of an answer; its body is bounded. */
public record HttpAnswer(int status, HttpHeaders headers, Bytes body) {
  public boolean isSuccess() {
    return status >= 200 && status < 300;
  }
}
