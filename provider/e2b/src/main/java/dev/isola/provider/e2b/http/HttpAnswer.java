package dev.isola.provider.e2b.http;

import dev.isola.spi.Bytes;
import java.net.http.HttpHeaders;

/** A complete response, whose body is limited in size. */
public record HttpAnswer(int status, HttpHeaders headers, Bytes body) {
  public boolean isSuccess() {
    return status >= 200 && status < 300;
  }
}
