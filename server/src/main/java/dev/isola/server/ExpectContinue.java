package dev.isola.server;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;

/**
 * Requests with {@code Expect: 100-continue}: their clients, such as curl, wait for a permission
 * before they send the body, so that a rejected request costs nothing.
 */
final class ExpectContinue {
  private static final String PERMITTED = ExpectContinue.class.getName();
  private static final long TIMEOUT_SECONDS = 30;

  private ExpectContinue() {}

  /** Returns whether the client still waits for permission to send the body. */
  static boolean isAwaited(Request request) {
    return request.getHeaders().contains("Expect", "100-continue")
        && request.getConnectionMetaData().getHttpVersion() == HttpVersion.HTTP_1_1
        && request.getAttribute(PERMITTED) == null
        && Request.getContentBytesRead(request) == 0;
  }

  /** Permits the client to send the body, if it waits for that. */
  static void permit(Request request, Response response) throws IOException {
    if (!isAwaited(request)) {
      return;
    }
    request.setAttribute(PERMITTED, true);
    try {
      response
          .writeInterim(HttpStatus.CONTINUE_100, HttpFields.EMPTY)
          .get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw new IOException("the client does not read", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException();
    }
  }
}
