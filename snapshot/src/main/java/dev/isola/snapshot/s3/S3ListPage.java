package dev.isola.snapshot.s3;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

/**
 * One page of an object listing.
 *
 * @param next the continuation token of the next page; empty on the last page
 */
record S3ListPage(List<String> keys, String next) {

  static S3ListPage read(byte[] answer) throws IOException {
    XMLInputFactory factory = XMLInputFactory.newDefaultFactory();
    factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
    factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
    factory.setProperty(XMLInputFactory.IS_COALESCING, true);
    List<String> keys = new ArrayList<>();
    String next = "";
    boolean more = false;
    boolean list = false;
    try {
      XMLStreamReader xml = factory.createXMLStreamReader(new ByteArrayInputStream(answer));
      while (xml.hasNext()) {
        if (xml.next() == XMLStreamConstants.START_ELEMENT) {
          switch (xml.getLocalName()) {
            case "ListBucketResult" -> list = true;
            case "Key" -> keys.add(xml.getElementText());
            case "NextContinuationToken" -> next = xml.getElementText();
            case "IsTruncated" -> more = Boolean.parseBoolean(xml.getElementText());
            default -> {
              // Sizes, times and owners are not needed.
            }
          }
        }
      }
      xml.close();
    } catch (XMLStreamException e) {
      throw new IOException("the listing of the bucket cannot be parsed", e);
    }
    if (!list || (more && next.isEmpty())) {
      throw new IOException("the listing of the bucket is incomplete");
    }
    return new S3ListPage(List.copyOf(keys), more ? next : "");
  }
}
