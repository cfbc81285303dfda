/** Health and server reflection. */
import { create, type DescMethod, type FileRegistry, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { RpcCode } from "../refusal.ts";
import { Failure } from "./frames.ts";

const SERVING = 1;

/** What a health check says of the service that a request names. */
export function health(method: DescMethod, message: Uint8Array, registry: FileRegistry): Uint8Array {
  const { service } = fromBinary(method.input, message) as unknown as { service: string };
  if (service !== "" && registry.getService(service) === undefined) {
    throw new Failure(RpcCode.NOT_FOUND, `unknown service ${service}`);
  }
  return toBinary(method.output, create(method.output, { status: SERVING } as never));
}

/** A question of a reflection client, by the name of the field that it is in. */
interface Question {
  readonly case: string | undefined;
  readonly value: unknown;
}

/** The answer to one question about the descriptors. */
export function reflect(method: DescMethod, message: Uint8Array, registry: FileRegistry): Uint8Array {
  const originalRequest = fromBinary(method.input, message) as unknown as { messageRequest: Question };
  const messageResponse = answer(originalRequest.messageRequest, registry);
  return toBinary(method.output, create(method.output, { originalRequest, messageResponse } as never));
}

function answer(question: Question, registry: FileRegistry): Question {
  switch (question.case) {
    case "listServices": {
      const services = [...registry].filter((one) => one.kind === "service");
      return { case: "listServicesResponse", value: { service: services.map((one) => ({ name: one.typeName })) } };
    }
    case "fileByFilename":
      return filesFrom(registry, (file) => `${file.name}` === question.value);
    case "fileContainingSymbol":
      return filesFrom(registry, (file) => file.name === fileOf(registry, String(question.value)));
    case "fileContainingExtension": {
      const { containingType, extensionNumber } = question.value as { containingType: string; extensionNumber: number };
      const type = registry.getMessage(containingType);
      const extension = type && registry.getExtensionFor(type, extensionNumber);
      return filesFrom(registry, (file) => file.name === extension?.file.proto.name);
    }
    case "allExtensionNumbersOfType": {
      const extensions = [...registry].filter(
        (one) => one.kind === "extension" && one.extendee.typeName === question.value,
      );
      const extensionNumber = extensions.map((one) => (one as { number: number }).number);
      return { case: "allExtensionNumbersResponse", value: { baseTypeName: question.value, extensionNumber } };
    }
    default:
      return refusal(RpcCode.INVALID_ARGUMENT, "the request asks nothing");
  }
}

/** The name of the file that holds a symbol: a type, a service, or a method or field of one. */
function fileOf(registry: FileRegistry, symbol: string): string | undefined {
  const found = registry.get(symbol) ?? registry.get(symbol.slice(0, symbol.lastIndexOf(".")));
  return found?.file.proto.name;
}

/** The file that `wanted` picks, and all that it imports. */
function filesFrom(registry: FileRegistry, wanted: (file: FileDescriptorProto) => boolean): Question {
  const all = [...registry.files].map((file) => file.proto);
  const out = new Set<FileDescriptorProto>();
  const add = (file: FileDescriptorProto | undefined): void => {
    if (file === undefined || out.has(file)) return;
    out.add(file);
    for (const name of file.dependency) add(all.find((one) => one.name === name));
  };
  add(all.find(wanted));
  if (out.size === 0) return refusal(RpcCode.NOT_FOUND, "no such symbol or file");
  const fileDescriptorProto = [...out].map((file) => toBinary(FileDescriptorProtoSchema, file));
  return { case: "fileDescriptorResponse", value: { fileDescriptorProto } };
}

function refusal(errorCode: number, errorMessage: string): Question {
  return { case: "errorResponse", value: { errorCode, errorMessage } };
}
