package dev.isola.app.operate;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Something {@code doctor} found out about the machine.
 *
 * @param good false when some provider would miss it
 * @param fix what a person does about it; empty when there is nothing to do. Of something good it
 *     is a warning: what to look after, because Isola cannot
 */
public record DoctorCheck(String name, boolean good, String value, String fix) {
  public static DoctorCheck good(String name, String value) {
    return new DoctorCheck(name, true, value, "");
  }

  public static DoctorCheck warning(String name, String value, String check) {
    return new DoctorCheck(name, true, value, check);
  }

  public static DoctorCheck bad(String name, String value, String fix) {
    return new DoctorCheck(name, false, value, fix);
  }

  boolean warns() {
    return good && !fix.isEmpty();
  }

  Map<String, ?> json() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("name", name);
    json.put("good", good);
    json.put("warning", warns());
    json.put("value", value);
    json.put("fix", fix);
    return json;
  }
}
