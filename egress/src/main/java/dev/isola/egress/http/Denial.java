package dev.isola.egress.http;

import dev.isola.codec.http.HttpHead;
import dev.isola.codec.http.HttpHead.Field;
import dev.isola.codec.json.Json;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A request that is answered by the proxy, as a problem document (RFC 9457). */
record Denial(int status, String reason, String remedy) {
  static final int FORBIDDEN = 403;
  static final int BAD_REQUEST = 400;
  static final int MISDIRECTED = 421;
  static final int BAD_GATEWAY = 502;

  static Denial forbidden(String reason, String remedy) {
    return new Denial(FORBIDDEN, reason, remedy);
  }

  static Denial badRequest(String reason) {
    return new Denial(BAD_REQUEST, reason, "send a valid HTTP request");
  }

  static Denial badGateway(String reason) {
    return new Denial(BAD_GATEWAY, reason, "try again, or ask the operator of the host");
  }

  byte[] body() {
    Map<String, Object> problem = new LinkedHashMap<>();
    problem.put("type", "urn:isola:error:" + code());
    problem.put("title", title());
    problem.put("status", status);
    problem.put("detail", reason);
    problem.put("code", code());
    problem.put("remedy", remedy);
    return Json.bytes(problem);
  }

  private String code() {
    return status == BAD_GATEWAY ? "EGRESS_FAILED" : "EGRESS_DENIED";
  }

  private String title() {
    return switch (status) {
      case BAD_REQUEST -> "Bad Request";
      case FORBIDDEN -> "Forbidden";
      case MISDIRECTED -> "Misdirected Request";
      default -> "Bad Gateway";
    };
  }

  List<Field> fields(int length) {
    return List.of(
        Field.of("content-type", "application/problem+json"),
        Field.of("content-length", Integer.toString(length)),
        Field.of("cache-control", "no-store"));
  }

  /**
   * Returns the response in HTTP/1.1.
   *
   * @param withBody false for HEAD
   */
  byte[] response(boolean withBody, boolean close) {
    byte[] body = body();
    List<Field> fields = new ArrayList<>(fields(body.length));
    if (close) {
      fields.add(Field.of("connection", "close"));
    }
    byte[] head = new HttpHead("HTTP/1.1 " + status + " " + title(), fields).toBytes();
    if (!withBody) {
      return head;
    }
    byte[] all = Arrays.copyOf(head, head.length + body.length);
    System.arraycopy(body, 0, all, head.length, body.length);
    return all;
  }
}
